throw new Error('the module does not load');
